import classes from './facts.module.css'
import { PairList, type Pairs } from './pairs.tsx'

/** Names and values, one pair per line. A pair without a value is left out. */
export function Facts({ facts }: { facts: Pairs }) {
  return <PairList className={classes.facts} pairs={facts} />
}

/** Values on separate lines, such as DNS records. */
export function Values({ values }: { values: string[] }) {
  return (
    <ul className={classes.values}>
      {values.map((value, index) => (
        <li key={`${index} ${value}`}>{value}</li>
      ))}
    </ul>
  )
}
