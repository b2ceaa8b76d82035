import { useId, type ReactNode } from 'react'
import classes from './labelled.module.css'

/** Attributes of a control that connect it with its label, hint and error. */
export type Connected = {
  id: string
  className: string
  'aria-describedby': string | undefined
  'aria-invalid': true | undefined
}

type LabelledProps = {
  label: string
  hint?: string | undefined
  error?: string | null | undefined
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
      {hint && (
        <p id={`${id}-hint`} className={classes.hint}>
          {hint}
        </p>
      )}
      {children({
        id,
        className: classes.control ?? '',
        'aria-describedby': described || undefined,
        'aria-invalid': error ? true : undefined,
      })}
      {error && (
        <p id={`${id}-error`} className={classes.error}>
          {error}
        </p>
      )}
    </div>
  )
}
