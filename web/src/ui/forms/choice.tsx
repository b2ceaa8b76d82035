import { Explained, type Described } from '../actions/explained.tsx'
import classes from './choice.module.css'

type ChoiceProps<T extends string> = {
  label: string
  choices: { value: T; name: string }[]
  value: T
  /** Why it cannot be changed: disables it, and is shown on focus and hover. */
  disabledReason?: string | undefined
  size?: 'small' | 'normal'
  onChange: (value: T) => void
}

/** One of several, in place and at once: outside of forms, in tables and above lists. */
export function Choice<T extends string>({ disabledReason, ...rest }: ChoiceProps<T>) {
  if (!disabledReason) return <Control {...rest} />
  const only = rest.choices.filter(({ value }) => value === rest.value)
  return (
    <Explained reason={disabledReason}>
      {(described) => <Control {...rest} choices={only} described={described} />}
    </Explained>
  )
}

function Control<T extends string>({
  label,
  choices,
  value,
  size = 'small',
  described,
  onChange,
}: Omit<ChoiceProps<T>, 'disabledReason'> & { described?: Described }) {
  return (
    <select
      className={classes.choice}
      data-size={size}
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value as T)}
      {...described}
    >
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.name}
        </option>
      ))}
    </select>
  )
}
