import { PasswordInput, TextInput } from '@mantine/core'
import { createContext, use, useState, type FormEvent, type InputHTMLAttributes, type ReactNode } from 'react'
import { Button } from './button.tsx'
import classes from './form.module.css'
import { Notice } from './notice.tsx'

/** What may go wrong with a form: a sentence, and what is wrong with single fields by their names. */
type Problem = { message: string; fields: Record<string, string> }

const NO_PROBLEM: Problem = { message: '', fields: {} }
const FieldProblems = createContext<Record<string, string>>({})

type FormProps = {
  /** Called with the fields by name. What it throws is shown: its sentence, and `details` beside their fields. */
  onSubmit: (values: Record<string, string>) => Promise<void>
  /** What is wrong with these values before anything is sent, by field. */
  check?: (values: Record<string, string>) => Record<string, string>
  submit: string
  children: ReactNode
}

export function Form({ onSubmit, check, submit, children }: FormProps) {
  const [problem, setProblem] = useState(NO_PROBLEM)
  const [busy, setBusy] = useState(false)

  async function send(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    const form = event.currentTarget
    const values = valuesOf(form)
    const fields = check?.(values) ?? {}
    setProblem({ message: '', fields })
    if (focusFirst(form, fields)) return
    setBusy(true)
    try {
      await onSubmit(values)
    } catch (error) {
      const found = problemOf(error)
      setProblem(found)
      focusFirst(form, found.fields)
    } finally {
      setBusy(false)
    }
  }

  return (
    <form className={classes.form} noValidate onSubmit={(event) => void send(event)}>
      <FieldProblems value={problem.fields}>{children}</FieldProblems>
      <div role="alert">{problem.message && <Notice tone="bad">{problem.message}</Notice>}</div>
      <div>
        <Button kind="primary" type="submit" busy={busy}>
          {submit}
        </Button>
      </div>
    </form>
  )
}

/** What is typed into a form, by the names of its fields. */
export function valuesOf(form: HTMLFormElement): Record<string, string> {
  const typed = [...new FormData(form)].filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return Object.fromEntries(typed)
}

function problemOf(error: unknown): Problem {
  const { message, details = [] } = error as Error & { details?: { path: string; message: string }[] }
  return { message, fields: Object.fromEntries(details.map((detail) => [detail.path, detail.message])) }
}

function focusFirst(form: HTMLFormElement, fields: Record<string, string>): boolean {
  const inputs = [...form.elements].filter((element) => element instanceof HTMLInputElement)
  const first = inputs.find((input) => input.name in fields)
  first?.focus()
  return first !== undefined
}

type FieldProps = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  'autoComplete' | 'autoFocus' | 'defaultValue' | 'placeholder' | 'spellCheck' | 'type' | 'maxLength'
> & { name: string; label: string; hint?: string }

export function TextField({ hint, ...rest }: FieldProps) {
  const error = use(FieldProblems)[rest.name]
  return <TextInput size="md" classNames={classes} description={hint} error={error} {...rest} />
}

/** A password that may be shown, so that it need not be typed twice. */
export function PasswordField({ hint, ...rest }: Omit<FieldProps, 'type'>) {
  const error = use(FieldProblems)[rest.name]
  return (
    <PasswordInput
      size="md"
      classNames={classes}
      description={hint}
      error={error}
      visibilityToggleFocusable
      visibilityToggleButtonProps={{ 'aria-label': 'Show the password', variant: 'quiet' }}
      {...rest}
    />
  )
}
