import type { ReactNode } from 'react'
import { Icon } from '../brand/icons.tsx'
import { TextWithGuideLinks } from '../text/guide-links.tsx'
import classes from './notice.module.css'
import type { Tone } from './status.tsx'

/** A highlighted paragraph with a result, a warning or an error. */
export function Notice({
  tone,
  title,
  children,
}: {
  tone: Tone
  title?: string
  children: ReactNode
}) {
  return (
    <div className={classes.notice} data-tone={tone}>
      <span className={classes.icon}>
        <Icon name={tone} />
      </span>
      <div className={classes.words}>
        {title && <strong>{title}</strong>}
        {typeof children === 'string' ? <TextWithGuideLinks text={children} /> : children}
      </div>
    </div>
  )
}
