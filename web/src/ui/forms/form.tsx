import { NativeSelect, PasswordInput, Textarea, TextInput } from '@mantine/core'
import { createContext, use, useId, useState, type FormEvent, type InputHTMLAttributes, type ReactNode } from 'react'
import { Button, type ButtonKind } from '../actions/button.tsx'
import classes from './form.module.css'
import { Notice } from '../feedback/notice.tsx'
import { useInView } from './use-in-view.ts'
import { messages } from '../messages.ts'

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
  /** Of the button that sends it. */
  kind?: ButtonKind
  /** Other ways on, beside the button. */
  aside?: ReactNode
  children: ReactNode
}

export function Form({ onSubmit, check, submit, kind = 'primary', aside, children }: FormProps) {
  const [problem, setProblem] = useState(NO_PROBLEM)
  const [busy, setBusy] = useState(false)
  const said = useInView<HTMLDivElement>(problem.message && Object.keys(problem.fields).length === 0)

  async function send(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    const form = event.currentTarget
    const values = valuesOf(form)
    const fields = check?.(values) ?? {}
    setProblem({ message: '', fields })
    if (focusFirst(form, fields)) return
    setBusy(true)
    // Sent from a field, on a phone, the button that says so may lie below the window.
    ;(event.nativeEvent as SubmitEvent).submitter?.scrollIntoView({ block: 'nearest' })
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
      <div role="alert" ref={said}>
        {problem.message && <Notice tone="bad">{problem.message}</Notice>}
      </div>
      <div className={classes.ways}>
        <Button kind={kind} type="submit" busy={busy}>
          {submit}
        </Button>
        {aside}
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
  const first = [...form.elements].find((element) => (element as HTMLInputElement).name in fields)
  if (!(first instanceof HTMLElement)) return false
  // What is folded away cannot take the focus.
  first.closest('details')?.setAttribute('open', '')
  first.focus()
  return true
}

type FieldProps = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  'autoComplete' | 'autoFocus' | 'defaultValue' | 'inputMode' | 'maxLength' | 'placeholder' | 'spellCheck' | 'type'
> & { name: string; label: string; hint?: string }

/** @param onType called with what is typed so far, where something beside the field depends on it */
export function TextField({ hint, onType, ...rest }: FieldProps & { onType?: (text: string) => void }) {
  const error = use(FieldProblems)[rest.name]
  return (
    <TextInput
      size="md"
      classNames={classes}
      description={hint}
      error={error}
      onChange={(event) => onType?.(event.currentTarget.value)}
      {...rest}
    />
  )
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
      visibilityToggleButtonProps={{ 'aria-label': messages.form.showPassword, variant: 'quiet' }}
      {...rest}
    />
  )
}

/** Text of several lines, such as a body; `prose` is for what people read rather than programs. */
export function AreaField({ hint, rows = 5, prose = false, ...rest }: AreaProps & { rows?: number; prose?: boolean }) {
  const error = use(FieldProblems)[rest.name]
  return (
    <Textarea
      size="md"
      rows={rows}
      classNames={{ ...classes, input: `${classes.input} ${prose ? classes.prose : classes.area}` }}
      description={hint}
      error={error}
      {...rest}
    />
  )
}
type AreaProps = Pick<FieldProps, 'name' | 'label' | 'hint' | 'placeholder' | 'spellCheck'> & { defaultValue?: string }

type SelectProps = Pick<FieldProps, 'name' | 'label' | 'hint'> & {
  choices: { value: string; label: string }[]
  defaultValue?: string
  /** Called with what is chosen, where other fields depend on it. */
  onChoose?: (value: string) => void
}

export function SelectField({ hint, choices, onChoose, ...rest }: SelectProps) {
  const error = use(FieldProblems)[rest.name]
  return (
    <NativeSelect
      size="md"
      classNames={classes}
      description={hint}
      error={error}
      data={choices}
      onChange={(event) => onChoose?.(event.currentTarget.value)}
      {...rest}
    />
  )
}

type CheckProps = Pick<FieldProps, 'name' | 'label' | 'hint'> & {
  defaultChecked?: boolean
  onChoose?: (isChecked: boolean) => void
}

/** Yes or no; among the values of a form it is `on` or not there. */
export function CheckField({ name, label, hint, defaultChecked, onChoose }: CheckProps) {
  const id = useId()
  return (
    <div className={classes.check}>
      <input
        type="checkbox"
        id={id}
        name={name}
        defaultChecked={defaultChecked}
        aria-describedby={hint && `${id}-hint`}
        onChange={(event) => onChoose?.(event.currentTarget.checked)}
      />
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p id={`${id}-hint`} className={classes.description}>
          {hint}
        </p>
      )}
    </div>
  )
}

/** Short fields side by side, where there is room. */
export function FieldRow({ children }: { children: ReactNode }) {
  return <div className={classes.fields}>{children}</div>
}
