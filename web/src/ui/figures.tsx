import type { ReactNode } from 'react'
import classes from './figures.module.css'

/** A few numbers that say how something stands: `[name, value]`. One without a value is left out. */
export function Figures({ figures }: { figures: [name: string, value: ReactNode][] }) {
  return (
    <dl className={classes.figures}>
      {figures
        .filter(([, value]) => Boolean(value))
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
