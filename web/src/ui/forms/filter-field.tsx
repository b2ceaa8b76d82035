import { useEffect, useEffectEvent, useRef, useState } from 'react'
import classes from './filter-field.module.css'

/** Milliseconds after the last key until the list is narrowed down. */
const CALM = 250

type FilterFieldProps = { label: string; value: string; onFilter: (text: string) => void }

/** What narrows a list down while somebody types. */
export function FilterField({ label, value, onFilter }: FilterFieldProps) {
  const [text, setText] = useState(value)
  const told = useRef(value)
  const tell = useEffectEvent(() => {
    told.current = text.trim()
    onFilter(told.current)
  })
  useEffect(() => {
    if (text.trim() === told.current) return undefined
    const timer = setTimeout(tell, CALM)
    return () => clearTimeout(timer)
  }, [text])
  // Going back in the browser changes it from outside.
  useEffect(() => {
    if (value === told.current) return
    told.current = value
    setText(value)
  }, [value])
  return (
    <input
      type="search"
      className={classes.field}
      aria-label={label}
      placeholder={label}
      value={text}
      spellCheck={false}
      autoComplete="off"
      onChange={(event) => setText(event.currentTarget.value)}
    />
  )
}
