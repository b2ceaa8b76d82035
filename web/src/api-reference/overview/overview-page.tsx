import { useEffect, useRef, type ReactNode } from 'react'
import { inService } from '../../base-path.ts'
import { TextWithCode } from '../../ui/text/text-with-code.tsx'
import { CodeBlock } from '../code/code-block.tsx'
import { CopyButton } from '../code/copy-button.tsx'
import type { Group } from '../document/reference.ts'
import type { Loading } from '../load-document.ts'
import { placeHref } from '../location.ts'
import { ERROR_EXAMPLE, ERRORS, frame, overview as messages } from '../messages.ts'
import { Method } from '../operation/method.tsx'
import { useReferenceContext } from '../reference-context.ts'
import { LoadingState } from '../loading-state.tsx'
import { LimitTables } from './limit-tables.tsx'
import classes from './overview-page.module.css'
import { SECTION_LINKS, type SectionName } from './sections.ts'

/** Fragments that lead to the overview. */
export const SECTIONS: string[] = [...SECTION_LINKS, 'operations']

type OverviewProps = { loading: Loading; section: string }

/** What all operations have in common, and a list of them. */
export function OverviewPage({ loading, section }: OverviewProps) {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (section === '') window.scrollTo(0, 0)
    else document.getElementById(section)?.scrollIntoView()
  }, [section])
  return (
    <div className={classes.page}>
      <header className={classes.intro}>
        <h1 ref={title} tabIndex={-1}>
          {frame.title}
        </h1>
        <p className={classes.lead}>{messages.lead}</p>
        <BaseUrl />
      </header>
      <FirstRequest />
      <Section name="authentication">
        <Paragraphs texts={messages.authenticationText} />
        <Points texts={messages.authenticationPoints} />
      </Section>
      <Section name="conventions">
        <Points texts={messages.conventionPoints} />
      </Section>
      <Section name="errors">
        <Paragraphs texts={[messages.errorsText]} />
        <CodeBlock
          code={JSON.stringify(ERROR_EXAMPLE, null, 2)}
          language="json"
          what={messages.errorExample}
          head={messages.errorExample}
        />
        <Errors />
      </Section>
      <Section name="limits">
        <Paragraphs texts={[messages.limitsText, messages.limitsOff]} />
        <LimitTables />
      </Section>
      <Section name="streams">
        <Paragraphs texts={[messages.streamsText]} />
      </Section>
      <Section name="clients">
        <Paragraphs texts={[messages.clientsText]} />
        <Clients />
      </Section>
      <Section name="operations">
        {loading.state === 'loaded' ? (
          loading.reference.groups.map((group) => <GroupIndex key={group.name} group={group} />)
        ) : (
          <LoadingState loading={loading} />
        )}
      </Section>
    </div>
  )
}

function Section({ name, children }: { name: SectionName; children: ReactNode }) {
  return (
    <section id={name} className={classes.section} aria-labelledby={`${name}-title`}>
      <h2 id={`${name}-title`}>{messages[name]}</h2>
      {children}
    </section>
  )
}

function Paragraphs({ texts }: { texts: readonly string[] }) {
  return texts.map((text) => (
    <p key={text}>
      <TextWithCode text={text} />
    </p>
  ))
}

function Points({ texts }: { texts: readonly string[] }) {
  return (
    <ul className={classes.points}>
      {texts.map((text) => (
        <li key={text}>
          <TextWithCode text={text} />
        </li>
      ))}
    </ul>
  )
}

function BaseUrl() {
  const { baseUrl } = useReferenceContext()
  return (
    <p className={classes.baseUrl}>
      <span>{messages.baseUrl}</span>
      <code>{baseUrl}</code>
      <CopyButton text={baseUrl} what={messages.baseUrl} />
    </p>
  )
}

function FirstRequest() {
  const { baseUrl } = useReferenceContext()
  return (
    <section className={classes.section}>
      <h2>{messages.start}</h2>
      <p>
        {messages.startBefore} <a href={inService('/tokens')}>{messages.tokens}</a>{' '}
        <TextWithCode text={messages.startAfter} />
      </p>
      <CodeBlock
        code={messages.startCommand(baseUrl)}
        language="shell"
        what={messages.start}
        head="curl"
      />
    </section>
  )
}

function Clients() {
  const { baseUrl } = useReferenceContext()
  return (
    <CodeBlock
      code={messages.clientsCommand(baseUrl)}
      language="shell"
      what={messages.clients}
      head={messages.shell}
    />
  )
}

function Errors() {
  return (
    <dl className={classes.errors}>
      {ERRORS.map(({ status, code, text }) => (
        <div key={code}>
          <dt>
            <span>{status}</span> <code>{code}</code>
          </dt>
          <dd>
            <TextWithCode text={text} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function GroupIndex({ group: { name, description, operations } }: { group: Group }) {
  return (
    <div className={classes.group}>
      <h3>{name}</h3>
      <p className={classes.soft}>{description}</p>
      <ul>
        {operations.map(({ id, method, summary, path }) => (
          <li key={id}>
            <a href={placeHref(id)}>
              <Method method={method} isShort />
              <span>{summary}</span>
              <code>{path}</code>
            </a>
          </li>
        ))}
      </ul>
    </div>
  )
}
