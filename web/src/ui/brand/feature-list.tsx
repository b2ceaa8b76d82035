import classes from './feature-list.module.css'

export type Job = { name: string; words: string }

/** What the service does, a sentence each. */
export function Jobs({ jobs }: { jobs: Job[] }) {
  return (
    <ul className={classes.jobs}>
      {jobs.map(({ name, words }) => (
        <li key={name}>
          <h3>{name}</h3>
          <p>{words}</p>
        </li>
      ))}
    </ul>
  )
}
