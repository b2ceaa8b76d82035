import { useId, type ReactNode } from 'react'
import classes from './segments.module.css'

type SegmentsProps<T extends string> = {
  label: string
  /** `title` names a choice whose content is a drawing. */
  choices: { value: T; name: ReactNode; title?: string }[]
  value: T
  /** A round control, as in the frame. */
  round?: boolean
  onChange: (value: T) => void
}

/** One of a few, all in view. */
export function Segments<T extends string>({
  label,
  choices,
  value,
  round = false,
  onChange,
}: SegmentsProps<T>) {
  const group = useId()
  return (
    <div role="radiogroup" aria-label={label} className={classes.segments} data-round={round}>
      {choices.map((choice) => (
        <label key={choice.value} className={classes.segment} title={choice.title}>
          <input
            type="radio"
            name={group}
            value={choice.value}
            checked={choice.value === value}
            onChange={() => onChange(choice.value)}
          />
          {choice.name}
        </label>
      ))}
    </div>
  )
}
