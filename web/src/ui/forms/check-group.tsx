import { use, useId } from 'react'
import classes from './check-group.module.css'
import { CheckField, FieldProblems } from './form.tsx'

type CheckGroupProps = {
  legend: string
  hint?: string
  /** Names of the fields, their labels, and whether they are checked at first. */
  choices: { name: string; label: string; isChecked: boolean }[]
  /** `narrow` for labels of a few letters. */
  size?: 'normal' | 'narrow'
}

/** Checkboxes that belong together, with one error message for all. */
export function CheckGroup({ legend, hint, choices, size = 'normal' }: CheckGroupProps) {
  const id = useId()
  const problems = use(FieldProblems)
  const error = choices.map(({ name }) => problems[name]).find((problem) => problem !== undefined)
  const described = error ? `${id}-error` : hint && `${id}-hint`
  return (
    <fieldset className={classes.group} data-size={size} aria-describedby={described}>
      <legend>{legend}</legend>
      {hint && (
        <p id={`${id}-hint`} className={classes.hint}>
          {hint}
        </p>
      )}
      {choices.map(({ name, label, isChecked }) => (
        <CheckField key={name} name={name} label={label} defaultChecked={isChecked} />
      ))}
      {error && (
        <p id={`${id}-error`} className={classes.wrong}>
          {typeof error === 'string' ? error : `${legend} ${error.fragment}.`}
        </p>
      )}
    </fieldset>
  )
}
