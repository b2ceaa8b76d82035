import type { ReactNode } from 'react'
import { Icon } from '../brand/icons.tsx'
import type { Tone } from '../feedback/status.tsx'
import classes from './card-grid.module.css'

/** Objects as cards, as many beside each other as there is room for. */
export function CardGrid({
  short = false,
  children,
}: {
  /** Only the first six on a phone, where another screen lists all. */
  short?: boolean
  children: ReactNode
}) {
  return (
    <ul className={classes.grid} data-short={short} data-rows>
      {children}
    </ul>
  )
}

type LinkCardProps = {
  /** A link, which the whole card follows. */
  title: ReactNode
  /** A second line below the title, such as a label. */
  subtitle?: string
  status: { tone: Tone; word: string }
  /** One sentence; two lines are shown at most. */
  text?: string | null
  /** At the bottom: a few facts. */
  foot?: ReactNode
  /** A picture. */
  children?: ReactNode
}

/** An object with its status and its picture, linked to its screen. */
export function LinkCard({ title, subtitle, status, text, foot, children }: LinkCardProps) {
  return (
    <li className={classes.card} data-tone={status.tone}>
      <div className={classes.head}>
        <Icon name={status.tone} />
        <h3>{title}</h3>
        {subtitle && <small>{subtitle}</small>}
      </div>
      {children}
      {text && <p className={classes.text}>{text}</p>}
      <div className={classes.foot}>
        <strong>{status.word}</strong>
        {foot}
      </div>
    </li>
  )
}
