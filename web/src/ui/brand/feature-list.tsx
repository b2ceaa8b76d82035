import classes from './feature-list.module.css'

export type Feature = { name: string; words: string }

/** What the service does, a sentence each. */
export function FeatureList({ features }: { features: Feature[] }) {
  return (
    <ul className={classes.jobs}>
      {features.map(({ name, words }) => (
        <li key={name}>
          <h3>{name}</h3>
          <p>{words}</p>
        </li>
      ))}
    </ul>
  )
}
