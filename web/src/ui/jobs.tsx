import classes from './jobs.module.css'
import { Status } from './status.tsx'

export type Job = { name: string; words: string; works: boolean }

/** What the service does, a sentence each, and whether it already does. */
export function Jobs({ jobs }: { jobs: Job[] }) {
  return (
    <ul className={classes.jobs}>
      {jobs.map(({ name, words, works }) => (
        <li key={name}>
          <div className={classes.head}>
            <h3>{name}</h3>
            {works ? <Status tone="good">Works today</Status> : <span className={classes.later}>Not yet built</span>}
          </div>
          <p>{words}</p>
        </li>
      ))}
    </ul>
  )
}
