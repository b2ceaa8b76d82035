import { TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { Button } from '../actions/button.tsx'
import { valuesOf } from './form.tsx'
import classes from './search-form.module.css'

type SearchFormProps = {
  name: string
  label: string
  submit: string
  placeholder: string
  defaultValue: string
  autoFocus: boolean
  /** Goes where the answer is, or returns what is wrong with what was typed. */
  onAsk: (typed: string) => string | null
}

/** An input with its button, for the one thing a screen is there to ask. */
export function SearchForm({ name, label, submit, onAsk, ...rest }: SearchFormProps) {
  const [problem, setProblem] = useState<string | null>(null)

  function ask(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    setProblem(onAsk((valuesOf(event.currentTarget)[name] ?? '').trim()))
  }

  return (
    <form role="search" noValidate onSubmit={ask}>
      <TextInput
        size="lg"
        name={name}
        label={label}
        error={problem}
        classNames={classes}
        autoCapitalize="none"
        autoComplete="off"
        autoCorrect="off"
        spellCheck={false}
        inputMode="url"
        inputContainer={(input) => (
          <div className={classes.line}>
            {input}
            <Button kind="primary" size="large" type="submit">
              {submit}
            </Button>
          </div>
        )}
        {...rest}
      />
    </form>
  )
}
