import classes from './choice.module.css'

type ChoiceProps<T extends string> = {
  label: string
  choices: { value: T; name: string }[]
  value: T
  size?: 'small' | 'normal'
  onChange: (value: T) => void
}

/** One of several, in place and at once: outside of forms, in tables and above lists. */
export function Choice<T extends string>({
  label,
  choices,
  value,
  size = 'small',
  onChange,
}: ChoiceProps<T>) {
  return (
    <select
      className={classes.choice}
      data-size={size}
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value as T)}
    >
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.name}
        </option>
      ))}
    </select>
  )
}
