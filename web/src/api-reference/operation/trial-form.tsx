import { useId, useState, type ReactNode } from 'react'
import { Icon } from '../../ui/brand/icons.tsx'
import { exampleOf } from '../document/example.ts'
import type { Parameter } from '../document/openapi.ts'
import type { Content, Operation } from '../document/reference.ts'
import { allowedValues, resolve, type Schemas } from '../document/schema.ts'
import { trial as messages } from '../messages.ts'
import { useReferenceContext } from '../reference-context.ts'
import classes from './trial-form.module.css'
import {
  isValidBody,
  missingValues,
  parameterKey,
  trialRequest,
  type TrialValues,
} from './trial-request.ts'
import { TrialResponse } from './trial-response.tsx'
import { useTrial } from './use-trial.ts'

/**
 * The token of this page view, for all operations. It is in memory only: never stored, and never
 * part of a sample.
 */
let typedToken = ''

/** A form that sends the operation to this service and shows the response. */
export function TrialForm({ operation }: { operation: Operation }) {
  const { method, access, parameters, body } = operation
  const { schemas } = useReferenceContext()
  const [problem, setProblem] = useState('')
  const { trial, send, stop } = useTrial()
  const [content] = body

  function submit(form: HTMLFormElement): void {
    const values = readForm(form, operation, content)
    typedToken = values.token
    const [missing] = missingValues(operation, values)
    const text =
      missing !== undefined
        ? messages.missing(missing)
        : isValidBody(values)
          ? ''
          : messages.wrongJson
    setProblem(text)
    if (text !== '') return
    const { url, init } = trialRequest(operation, values)
    send(url, init)
  }

  return (
    <details className={classes.trial}>
      <summary>
        <Icon name="send" size={16} />
        {messages.title}
      </summary>
      <form
        noValidate
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault()
          submit(event.currentTarget)
        }}
      >
        {access !== 'public' && (
          <Labelled label={messages.token} hint={messages.tokenHint}>
            {(id) => (
              <input
                {...id}
                name="token"
                type="password"
                autoComplete="off"
                defaultValue={typedToken}
                placeholder="prv_…"
              />
            )}
          </Labelled>
        )}
        {parameters.map((parameter) => (
          <ParameterField key={parameterKey(parameter)} parameter={parameter} schemas={schemas} />
        ))}
        {content && <BodyField content={content} schemas={schemas} />}
        {problem !== '' && (
          <p className={classes.problem} role="alert">
            {problem}
          </p>
        )}
        <div className={classes.actions}>
          <button type="submit" className={classes.send} data-method={method}>
            {messages.send(method)}
          </button>
          {isRunning(trial) && (
            <button type="button" className={classes.stop} onClick={stop}>
              {messages.stop}
            </button>
          )}
        </div>
      </form>
      <TrialResponse trial={trial} />
    </details>
  )
}

const isRunning = (trial: ReturnType<typeof useTrial>['trial']) =>
  trial.state === 'waiting' || (trial.state === 'answered' && !trial.result.isComplete)

function readForm(
  form: HTMLFormElement,
  { parameters }: Operation,
  content: Content | undefined,
): TrialValues {
  const data = new FormData(form)
  const text = (name: string) => {
    const value = data.get(name)
    return typeof value === 'string' ? value.trim() : ''
  }
  return {
    parameters: Object.fromEntries(
      parameters.map((parameter) => [parameterKey(parameter), text(parameterKey(parameter))]),
    ),
    body: data.get('body'),
    type: content?.type === '*/*' ? 'text/plain' : (content?.type ?? ''),
    token: text('token'),
  }
}

type LabelledProps = {
  label: string
  hint?: string | undefined
  isCode?: boolean
  children: (props: { id: string; 'aria-describedby'?: string }) => ReactNode
}

function Labelled({ label, hint, isCode = false, children }: LabelledProps) {
  const id = useId()
  const hintId = `${id}-hint`
  return (
    <div className={classes.field}>
      <label htmlFor={id}>{isCode ? <code>{label}</code> : label}</label>
      {children(hint === undefined ? { id } : { id, 'aria-describedby': hintId })}
      {hint !== undefined && (
        <p id={hintId} className={classes.hint}>
          {hint}
        </p>
      )}
    </div>
  )
}

/** Begins with the example of the document, but never with a made-up id or token. */
function ParameterField({ parameter, schemas }: { parameter: Parameter; schemas: Schemas }) {
  const { name, schema, required = false } = parameter
  const resolved = resolve(schema, schemas)
  const choices = allowedValues(schema, schemas).map(String)
  const example = resolved.example ?? resolved.examples?.[0]
  const initial = required && typeof example === 'string' ? example : ''
  return (
    <Labelled label={name} isCode>
      {(id) =>
        choices.length > 0 ? (
          <select {...id} name={parameterKey(parameter)} defaultValue={initial}>
            {!required && <option value="" />}
            {choices.map((choice) => (
              <option key={choice}>{choice}</option>
            ))}
          </select>
        ) : (
          <input
            {...id}
            name={parameterKey(parameter)}
            defaultValue={initial}
            required={required}
            spellCheck={false}
            autoComplete="off"
            placeholder={resolved.default === undefined ? '' : JSON.stringify(resolved.default)}
          />
        )
      }
    </Labelled>
  )
}

function BodyField({ content, schemas }: { content: Content; schemas: Schemas }) {
  const { type } = content
  if (type === 'application/octet-stream') {
    return (
      <Labelled label={messages.file}>{(id) => <input {...id} name="body" type="file" />}</Labelled>
    )
  }
  const example = type === '*/*' ? 'paid' : exampleOf(content, schemas, true)
  const text = typeof example === 'string' ? example : JSON.stringify(example, null, 2)
  return (
    <Labelled label={messages.body}>
      {(id) => (
        <textarea
          {...id}
          name="body"
          rows={Math.min(14, text.split('\n').length + 1)}
          defaultValue={text}
          spellCheck={false}
          autoComplete="off"
        />
      )}
    </Labelled>
  )
}
