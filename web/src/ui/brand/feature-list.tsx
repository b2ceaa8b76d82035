import classes from './feature-list.module.css'

export type Feature = { name: string; words: string }

/** The features of the service, with a sentence each. */
export function FeatureList({ features }: { features: readonly Feature[] }) {
  return (
    <ul className={classes.features}>
      {features.map(({ name, words }) => (
        <li key={name}>
          <h3>{name}</h3>
          <p>{words}</p>
        </li>
      ))}
    </ul>
  )
}
