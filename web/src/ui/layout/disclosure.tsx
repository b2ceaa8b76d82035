import { useState, type ReactNode } from 'react'
import { usePrinting } from '../printing.ts'
import classes from './disclosure.module.css'

type DisclosureProps = {
  summary: ReactNode
  /** A function is called once the content is opened or printed: use it for long tables. */
  children: ReactNode | (() => ReactNode)
}

/** Rarely needed content, closed at first. */
export function Disclosure({ summary, children }: DisclosureProps) {
  const [wasOpened, setOpened] = useState(false)
  const isPrinting = usePrinting()
  const isNeeded = typeof children !== 'function' || wasOpened || isPrinting
  return (
    <details className={classes.details} onToggle={() => setOpened(true)}>
      <summary>{summary}</summary>
      <div className={classes.content}>
        {isNeeded && (typeof children === 'function' ? children() : children)}
      </div>
    </details>
  )
}
