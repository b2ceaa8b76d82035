import { useEffect, useRef } from 'react'
import { Icon } from '../../ui/brand/icons.tsx'
import { TextWithCode } from '../../ui/text/text-with-code.tsx'
import { CodeSamples } from '../code/code-samples.tsx'
import { CopyButton } from '../code/copy-button.tsx'
import type { Operation } from '../document/reference.ts'
import { placeHref } from '../location.ts'
import { frame, operation as messages } from '../messages.ts'
import { limitsOf } from '../overview/limits.ts'
import { FieldList, parameterFields } from './field-list.tsx'
import { Method } from './method.tsx'
import classes from './operation-page.module.css'
import { ResponseExamples } from './response-examples.tsx'
import { TargetField } from './target-field.ts'
import { TrialForm } from './trial-form.tsx'

type OperationPageProps = {
  operation: Operation
  /** The field that the address names, or nothing. */
  field: string[]
  previous: Operation | undefined
  next: Operation | undefined
}

/** One operation: description, fields and responses, with samples and a form beside them. */
export function OperationPage({ operation, field, previous, next }: OperationPageProps) {
  const title = useRef<HTMLHeadingElement>(null)
  const hasField = field.length > 0
  useEffect(() => {
    if (hasField) return
    window.scrollTo(0, 0)
    title.current?.focus({ preventScroll: true })
  }, [hasField])
  return (
    <TargetField value={field}>
      <article className={classes.page}>
        <div className={classes.intro}>
          <h1 ref={title} tabIndex={-1}>
            {operation.summary}
          </h1>
          <Address operation={operation} />
          {operation.description !== '' && (
            <p className={classes.description}>
              <TextWithCode text={operation.description} />
            </p>
          )}
          <Facts operation={operation} />
        </div>
        <div className={classes.samples}>
          <CodeSamples operation={operation} />
          <TrialForm operation={operation} />
          <ResponseExamples operation={operation} />
        </div>
        <div className={classes.details}>
          <Parameters operation={operation} />
          <Body operation={operation} />
          <Responses operation={operation} />
          <Pager previous={previous} next={next} />
        </div>
      </article>
    </TargetField>
  )
}

function Address({ operation: { id, method, path } }: { operation: Operation }) {
  return (
    <div className={classes.address}>
      <Method method={method} />
      <code className={classes.path}>
        {path.split(/(\/|\{\w+\})/).map((part, index) =>
          part.startsWith('{') ? (
            <var key={index}>{part}</var>
          ) : part === '/' ? (
            <span key={index}>
              {/* A long path may break after each segment. */}/<wbr />
            </span>
          ) : (
            part
          ),
        )}
      </code>
      <CopyButton
        text={`${window.location.origin}${window.location.pathname}${placeHref(id)}`}
        what={messages.link(id)}
        label={messages.copyLink}
      />
    </div>
  )
}

/** Who may send it, and how often. */
function Facts({ operation: { id, access } }: { operation: Operation }) {
  const limits = limitsOf(id)
  const { word, text } = messages.access[access]
  return (
    <dl className={classes.facts}>
      <div>
        <dt>
          <Icon name={access === 'public' ? 'good' : 'key'} size={16} />
          {word}
        </dt>
        <dd>{text}</dd>
      </div>
      {limits.map(({ limit, subject }) => (
        <div key={limit.name}>
          <dt>
            <Icon name="watch" size={16} />
            {messages.limits}
          </dt>
          <dd>
            <a href={placeHref('limits')}>{messages.limitText(limit)}</a> {messages.limit[subject]}
          </dd>
        </div>
      ))}
    </dl>
  )
}

const PLACES = [
  { place: 'path', title: messages.pathParameters },
  { place: 'query', title: messages.queryParameters },
  { place: 'header', title: messages.headerParameters },
] as const

function Parameters({ operation: { parameters } }: { operation: Operation }) {
  return PLACES.map(({ place, title }) => {
    const own = parameters.filter((parameter) => parameter.in === place)
    if (own.length === 0) return null
    return (
      <section key={place} className={classes.section}>
        <h2>{title}</h2>
        <FieldList fields={parameterFields(own)} path={[place]} />
      </section>
    )
  })
}

function Body({ operation: { body } }: { operation: Operation }) {
  if (body.length === 0) return null
  return (
    <section className={classes.section}>
      <h2>{messages.body}</h2>
      {body.map(({ type, schema }, index) => (
        <div key={type} className={classes.content}>
          <p className={classes.type}>
            <code>{type === '*/*' ? messages.anyType : type}</code>
          </p>
          {/* Links name the first type only “body”, so that they are short. */}
          <FieldList schema={schema} path={index === 0 ? ['body'] : ['body', type]} />
        </div>
      ))}
    </section>
  )
}

function Responses({ operation: { responses } }: { operation: Operation }) {
  return (
    <section className={classes.section}>
      <h2>{messages.responses}</h2>
      {responses.map(({ status, description, contents }) => (
        <div key={status} className={classes.content}>
          <h3 className={classes.status}>
            <span data-success={/^[23]/.test(status)}>{status}</span> {description}
          </h3>
          {contents.length === 0 && <p className={classes.type}>{messages.emptyBody}</p>}
          {contents.map(({ type, schema }) => (
            <div key={type}>
              <p className={classes.type}>
                <code>{type === '*/*' ? messages.anyType : type}</code>
              </p>
              <FieldList schema={schema} path={[status]} />
            </div>
          ))}
        </div>
      ))}
      <p className={classes.errors}>
        {messages.errorsBefore} <a href={placeHref('errors')}>{messages.errorsLink}</a>.
      </p>
    </section>
  )
}

function Pager({ previous, next }: Pick<OperationPageProps, 'previous' | 'next'>) {
  return (
    <nav className={classes.pager} aria-label={frame.pager}>
      {previous && (
        <a href={placeHref(previous.id)} rel="prev">
          <span>{frame.previous}</span>
          {previous.summary}
        </a>
      )}
      {next && (
        <a href={placeHref(next.id)} rel="next">
          <span>{frame.next}</span>
          {next.summary}
        </a>
      )}
    </nav>
  )
}
