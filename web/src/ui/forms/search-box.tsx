import { useId } from 'react'
import classes from './search-box.module.css'
import fieldClasses from './small-field.module.css'

type SearchBoxProps = {
  name: string
  label: string
  hint: string
  onType: (text: string) => void
  onEnter: () => void
}

/** A field with a visible label that filters a page while the user types. */
export function SearchBox({ name, label, hint, onType, onEnter }: SearchBoxProps) {
  const id = useId()
  return (
    <search className={classes.box}>
      <label htmlFor={id}>{label}</label>
      <input
        type="search"
        id={id}
        name={name}
        className={`${fieldClasses.field} ${classes.field}`}
        aria-describedby={`${id}-hint`}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => onType(event.currentTarget.value)}
        onKeyDown={({ key }) => key === 'Enter' && onEnter()}
      />
      <p id={`${id}-hint`} className={classes.hint}>
        {hint}
      </p>
    </search>
  )
}
