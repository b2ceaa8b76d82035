import { useState } from 'react'
import classes from './small-field.module.css'

type DayFieldProps = {
  label: string
  /** `2026-11-21` */
  value: string
  onChange: (day: string) => void
}

/** A day, chosen at once. Half-typed dates and years before 1970 are not reported. */
export function DayField({ label, value, onChange }: DayFieldProps) {
  const [typed, setTyped] = useState<string | null>(null)
  return (
    <input
      className={classes.field}
      type="date"
      aria-label={label}
      min="1970-01-01"
      max="2199-12-31"
      required
      value={typed ?? value}
      onChange={({ currentTarget: field }) => {
        setTyped(field.value)
        if (field.validity.valid) onChange(field.value)
      }}
      onBlur={() => setTyped(null)}
    />
  )
}
