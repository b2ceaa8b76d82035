import { useState, type FormEvent } from 'react'
import { Button } from '../actions/button.tsx'
import { valuesOf } from './form.tsx'
import { Labelled } from './labelled.tsx'
import classes from './search-form.module.css'

type SearchFormProps = {
  name: string
  label: string
  submit: string
  placeholder: string
  defaultValue: string
  autoFocus: boolean
  /** Small and with its label for screen readers only, for the heading of a screen. */
  compact?: boolean
  /** Starts the search, or returns the problem of the input. */
  onAsk: (typed: string) => string | null
}

/** A large input with its button, the main action of a screen. */
export function SearchForm({
  name,
  label,
  submit,
  onAsk,
  compact = false,
  ...rest
}: SearchFormProps) {
  const [problem, setProblem] = useState<string | null>(null)

  function ask(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    setProblem(onAsk((valuesOf(event.currentTarget)[name] ?? '').trim()))
  }

  return (
    <form role="search" noValidate onSubmit={ask} className={classes.form} data-compact={compact}>
      <Labelled label={label} error={problem} size={compact ? 'small' : 'large'}>
        {(control) => (
          <div className={classes.line}>
            <input
              type="text"
              name={name}
              autoCapitalize="none"
              autoComplete="off"
              autoCorrect="off"
              spellCheck={false}
              inputMode="url"
              {...rest}
              {...control}
            />
            <Button
              kind={compact ? 'plain' : 'primary'}
              size={compact ? 'normal' : 'large'}
              type="submit"
            >
              {submit}
            </Button>
          </div>
        )}
      </Labelled>
    </form>
  )
}
