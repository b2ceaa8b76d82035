import classes from './facts.module.css'
import { PairList, type Pairs } from './pairs.tsx'

/** Names and what they are, each on a line. A pair without a value is left out. */
export function Facts({ facts }: { facts: Pairs }) {
  return <PairList className={classes.facts} pairs={facts} />
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
