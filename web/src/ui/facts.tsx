import type { ReactNode } from 'react'
import classes from './facts.module.css'

/** Names and what they are: `[name, value]`. A pair without a value is left out. */
export function Facts({ facts }: { facts: [name: string, value: ReactNode][] }) {
  const shown = facts.filter(([, value]) => value !== null && value !== undefined && value !== '')
  return (
    <dl className={classes.facts}>
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Values that each deserve their own line, as they stand in the DNS. */
export function Values({ values }: { values: string[] }) {
  return (
    <ul className={classes.values}>
      {values.map((value, index) => (
        <li key={`${index} ${value}`}>{value}</li>
      ))}
    </ul>
  )
}
