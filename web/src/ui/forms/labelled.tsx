import { useId, type ReactNode } from 'react'
import classes from './labelled.module.css'

/** Attributes of a control that connect it with its label, hint and error. */
type Connected = {
  id: string
  className: string
  'aria-describedby': string | undefined
  'aria-invalid': true | undefined
}

/** A sentence, or what follows the label of the field in one: `must not be empty`. */
export type FieldError = string | { fragment: string }

type LabelledProps = {
  label: string
  hint?: string | undefined
  error?: FieldError | null | undefined
  size?: 'small' | 'normal' | 'large'
  children: (control: Connected) => ReactNode
}

/** A control of a form with its label, and with a hint and an error if it has any. */
export function Labelled({ label, hint, error, size = 'normal', children }: LabelledProps) {
  const id = useId()
  const described = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <div className={classes.labelled} data-size={size}>
      <label htmlFor={id} className={classes.label}>
        {label}
      </label>
      {children({
        id,
        className: classes.control ?? '',
        'aria-describedby': described || undefined,
        'aria-invalid': error ? true : undefined,
      })}
      {hint && (
        <p id={`${id}-hint`} className={classes.hint}>
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className={classes.error}>
          {typeof error === 'string' ? error : `${label} ${error.fragment}.`}
        </p>
      )}
    </div>
  )
}
