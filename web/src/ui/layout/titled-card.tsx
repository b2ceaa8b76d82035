import { useId, type ReactNode } from 'react'
import classes from './titled-card.module.css'

type TitledCardProps = {
  title: string
  /** At the end of the title's line, such as how it stands. */
  aside: ReactNode
  children: ReactNode
}

/** One thing of several: its name, how it stands, and what can be done with it. */
export function TitledCard({ title, aside, children }: TitledCardProps) {
  const heading = useId()
  return (
    <section className={classes.card} aria-labelledby={heading}>
      <div className={classes.head}>
        <h3 id={heading}>{title}</h3>
        {aside}
      </div>
      {children}
    </section>
  )
}
