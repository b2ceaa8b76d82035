import {
  createContext,
  use,
  useId,
  useRef,
  useState,
  type FormEvent,
  type InputHTMLAttributes,
  type ReactNode,
} from 'react'
import { Button, type ButtonKind } from '../actions/button.tsx'
import classes from './form.module.css'
import { Icon } from '../brand/icons.tsx'
import { Notice } from '../feedback/notice.tsx'
import { LeaveGuard } from './leave-guard.tsx'
import { Labelled, type FieldError } from './labelled.tsx'
import { useInView } from './use-in-view.ts'
import { messages } from '../messages.ts'

/** A problem of a form: a message, and messages of single fields by name. */
type Problem = { message: string; fields: Record<string, FieldError> }

const NO_PROBLEM: Problem = { message: '', fields: {} }
/** Name of the second submit button. */
const ALSO = 'also'

export const FieldProblems = createContext<Record<string, FieldError>>({})

type FormProps = {
  /**
   * Called with the values by name. Its errors are shown: the message, and `details` beside their
   * fields.
   */
  onSubmit: (values: Record<string, string>) => Promise<void>
  /** Validates the values before they are sent. Returns messages by field. */
  check?: (values: Record<string, string>) => Record<string, string>
  submit: string
  /** The kind of the submit button. */
  kind?: ButtonKind
  /** A second way to submit the same values, such as a test before they are saved. */
  also?: { submit: string; onSubmit: FormProps['onSubmit'] }
  /** Further buttons beside it. */
  aside?: ReactNode
  /** Asks before a half-typed form is left: for forms that take a while. */
  guarded?: boolean
  /** Why the form is not available: disables its fields, and is shown beside its button. */
  disabledReason?: string | undefined
  children: ReactNode
}

export function Form({
  onSubmit,
  check,
  submit,
  kind = 'primary',
  also,
  aside,
  guarded = false,
  disabledReason,
  children,
}: FormProps) {
  const isTyped = useRef(false)
  const [problem, setProblem] = useState(NO_PROBLEM)
  const [busy, setBusy] = useState<'main' | 'also' | null>(null)
  const said = useInView<HTMLDivElement>(
    problem.message && Object.keys(problem.fields).length === 0,
  )

  async function send(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    const form = event.currentTarget
    const { submitter } = event.nativeEvent as SubmitEvent
    const isAlso = submitter?.getAttribute('name') === ALSO
    const values = valuesOf(form)
    const fields = check?.(values) ?? {}
    setProblem({ message: '', fields })
    if (focusFirst(form, fields)) return
    setBusy(isAlso ? 'also' : 'main')
    const wasTyped = isTyped.current
    isTyped.current = false
    // After Enter in a field on a phone, the button that shows the progress may be below the
    // window.
    submitter?.scrollIntoView({ block: 'nearest' })
    try {
      await (isAlso && also ? also.onSubmit : onSubmit)(values)
    } catch (error) {
      isTyped.current = wasTyped
      const found = problemOf(error, form)
      setProblem(found)
      focusFirst(form, found.fields)
    } finally {
      setBusy(null)
    }
  }

  return (
    <form
      className={classes.form}
      noValidate
      onInput={() => (isTyped.current = true)}
      onSubmit={(event) => void send(event)}
    >
      {guarded && <LeaveGuard isNeeded={() => isTyped.current} />}
      <fieldset className={classes.all} disabled={disabledReason !== undefined}>
        <FieldProblems value={problem.fields}>{children}</FieldProblems>
      </fieldset>
      <div role="alert" ref={said}>
        {problem.message && <Notice tone="bad">{problem.message}</Notice>}
      </div>
      <div className={classes.ways}>
        <Button
          kind={kind}
          type="submit"
          busy={busy === 'main'}
          disabled={disabledReason !== undefined || busy === 'also'}
        >
          {submit}
        </Button>
        {also && !disabledReason && (
          <Button type="submit" name={ALSO} busy={busy === 'also'} disabled={busy === 'main'}>
            {also.submit}
          </Button>
        )}
        {disabledReason ? <span className={classes.description}>{disabledReason}</span> : aside}
      </div>
    </form>
  )
}

/** The values of a form by field name. */
export function valuesOf(form: HTMLFormElement): Record<string, string> {
  const typed = [...new FormData(form)].filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  return Object.fromEntries(typed)
}

/**
 * Each problem once: beside its field, as a sentence; above the button only what concerns no field
 * of the form.
 */
function problemOf(error: unknown, form: HTMLFormElement): Problem {
  const { message, details = [] } = error as Error & { details?: FieldProblem[] }
  const named = details.filter(({ path }) => hasField(form, path))
  const isCovered = named.length > 0 && named.length === details.length
  return {
    message: isCovered ? '' : message,
    fields: Object.fromEntries(
      named.map((detail) => [
        detail.path,
        describeProblem(detail, details.length === 1 ? message : null),
      ]),
    ),
  }
}

type FieldProblem = { path: string; message: string }

/** Whether a person can see and change the field. */
function hasField(form: HTMLFormElement, name: string): boolean {
  const field = form.elements.namedItem(name)
  return field !== null && !(field instanceof HTMLInputElement && field.type === 'hidden')
}

/**
 * The problem of a field as a sentence. The service adds one for people, unless it names the field as
 * programs do; then the fragment follows the field’s label.
 */
function describeProblem({ path, message }: FieldProblem, sentence: string | null): FieldError {
  const isForPrograms =
    sentence === null ||
    (path.includes('.') && sentence.includes(path)) ||
    sentence.startsWith('The request is not valid') ||
    sentence.toLowerCase() === `${path} ${message}.`.toLowerCase()
  return isForPrograms ? { fragment: message } : sentence
}

function focusFirst(form: HTMLFormElement, fields: Record<string, FieldError>): boolean {
  const first = [...form.elements].find((element) => (element as HTMLInputElement).name in fields)
  if (!(first instanceof HTMLElement)) return false
  // A field in a closed disclosure cannot take the focus.
  first.closest('details')?.setAttribute('open', '')
  first.focus()
  return true
}

type FieldProps = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  | 'autoComplete'
  | 'autoFocus'
  | 'defaultValue'
  | 'inputMode'
  | 'maxLength'
  | 'placeholder'
  | 'spellCheck'
  | 'type'
> & { name: string; label: string; hint?: string }

/**
 * A line of text, for which the browser suggests nothing unless `autoComplete` says so.
 * @param onType called with the current text, for content that depends on it
 */
export function TextField({
  label,
  hint,
  onType,
  ...rest
}: FieldProps & { onType?: (text: string) => void }) {
  return (
    <Labelled label={label} hint={hint} error={use(FieldProblems)[rest.name]}>
      {(control) => (
        <input
          type="text"
          autoComplete="off"
          {...rest}
          {...control}
          onChange={(event) => onType?.(event.currentTarget.value)}
        />
      )}
    </Labelled>
  )
}

/** A password field with a button that shows the password, so that it need not be entered twice. */
export function PasswordField({ label, hint, ...rest }: Omit<FieldProps, 'type'>) {
  const [isShown, setShown] = useState(false)
  return (
    <Labelled label={label} hint={hint} error={use(FieldProblems)[rest.name]}>
      {(control) => (
        <div className={classes.password}>
          <input autoComplete="off" {...rest} {...control} type={isShown ? 'text' : 'password'} />
          <button
            type="button"
            aria-label={messages.form.showPassword}
            aria-pressed={isShown}
            onClick={() => setShown(!isShown)}
          >
            <Icon name={isShown ? 'hidden' : 'shown'} size={22} />
          </button>
        </div>
      )}
    </Labelled>
  )
}

/** Text of several lines, such as a body; `prose` is for text that people read, and is spell-checked. */
export function AreaField({
  label,
  hint,
  rows = 5,
  prose = false,
  ...rest
}: AreaProps & { rows?: number; prose?: boolean }) {
  return (
    <Labelled label={label} hint={hint} error={use(FieldProblems)[rest.name]}>
      {({ className, ...control }) => (
        <textarea
          rows={rows}
          spellCheck={prose}
          {...rest}
          {...control}
          className={`${className} ${prose ? classes.prose : classes.area}`}
        />
      )}
    </Labelled>
  )
}
type AreaProps = Pick<FieldProps, 'name' | 'label' | 'hint' | 'placeholder' | 'spellCheck'> & {
  defaultValue?: string
}

type SelectProps = Pick<FieldProps, 'name' | 'label' | 'hint'> & {
  choices: { value: string; label: string }[]
  defaultValue?: string
  /** Called with the choice, for fields that depend on it. */
  onChoose?: (value: string) => void
}

export function SelectField({ label, hint, choices, onChoose, ...rest }: SelectProps) {
  return (
    <Labelled label={label} hint={hint} error={use(FieldProblems)[rest.name]}>
      {({ className, ...control }) => (
        <select
          {...rest}
          {...control}
          className={`${className} ${classes.select}`}
          onChange={(event) => onChoose?.(event.currentTarget.value)}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  )
}

type CheckProps = Pick<FieldProps, 'name' | 'label' | 'hint'> & {
  defaultChecked?: boolean
  onChoose?: (isChecked: boolean) => void
}

/** A checkbox. Among the values of a form it is `on` or missing. */
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
