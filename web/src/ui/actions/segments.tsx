import { SegmentedControl } from '@mantine/core'
import classes from './segments.module.css'

type SegmentsProps<T extends string> = {
  label: string
  choices: { value: T; name: string }[]
  value: T
  onChange: (value: T) => void
}

/** One of a few, all in view. */
export function Segments<T extends string>({ label, choices, value, onChange }: SegmentsProps<T>) {
  return (
    <SegmentedControl
      aria-label={label}
      classNames={classes}
      value={value}
      onChange={onChange}
      data={choices.map((choice) => ({ value: choice.value, label: choice.name }))}
    />
  )
}
