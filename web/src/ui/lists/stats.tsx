import classes from './stats.module.css'
import { PairList, type Pairs } from './pairs.tsx'

/** A few numbers that say how something stands. One without a value is left out. */
export function Stats({ stats }: { stats: Pairs }) {
  return <PairList className={classes.figures} pairs={stats} />
}
