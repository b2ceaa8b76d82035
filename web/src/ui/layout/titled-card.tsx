import { useId, type ReactNode } from 'react'
import classes from './titled-card.module.css'

type TitledCardProps = {
  title: string
  /** At the end of the title's line, such as a status. */
  aside: ReactNode
  children: ReactNode
}

/** A card with the name of an object, its status and its actions. */
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
