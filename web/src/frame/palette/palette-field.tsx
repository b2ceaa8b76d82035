import type { InputHTMLAttributes } from 'react'
import { Icon } from '../../ui/brand/icons.tsx'
import { palette as messages } from '../messages.ts'
import classes from './palette-field.module.css'

/** The text field of the search. It takes the focus. */
export function PaletteField(attributes: InputHTMLAttributes<HTMLInputElement>) {
  return (
    <div className={classes.field}>
      <Icon name="search" />
      <input
        autoFocus
        aria-label={messages.label}
        placeholder={messages.placeholder}
        autoComplete="off"
        spellCheck={false}
        {...attributes}
      />
    </div>
  )
}
