import { useEffect, useEffectEvent, useRef, useState } from 'react'
import fieldClasses from './small-field.module.css'
import classes from './filter-field.module.css'

/** Milliseconds after the last key until the list is filtered. */
const DEBOUNCE_MS = 250

type FilterFieldProps = { label: string; value: string; onFilter: (text: string) => void }

/** A field that filters a list while the user types. */
export function FilterField({ label, value, onFilter }: FilterFieldProps) {
  const [text, setText] = useState(value)
  const reported = useRef(value)
  const report = useEffectEvent(() => {
    reported.current = text.trim()
    onFilter(reported.current)
  })
  useEffect(() => {
    if (text.trim() === reported.current) return undefined
    const timer = setTimeout(report, DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [text])
  // The browser's back button changes the value from outside.
  useEffect(() => {
    if (value === reported.current) return
    reported.current = value
    setText(value)
  }, [value])
  return (
    <input
      type="search"
      className={`${fieldClasses.field} ${classes.field}`}
      aria-label={label}
      placeholder={label}
      value={text}
      spellCheck={false}
      autoComplete="off"
      onChange={(event) => setText(event.currentTarget.value)}
    />
  )
}
