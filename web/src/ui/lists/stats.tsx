import classes from './stats.module.css'
import { PairList, type Pairs } from './pairs.tsx'

/** A few key numbers. A number without a value is left out. */
export function Stats({ stats }: { stats: Pairs }) {
  return <PairList className={classes.figures} pairs={stats} />
}
