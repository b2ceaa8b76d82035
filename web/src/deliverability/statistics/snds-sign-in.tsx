import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Form, TextField } from '../../ui/forms/form.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { statistics, type SndsAccess } from './api.ts'
import { snds as messages } from './messages.ts'

/**
 * A sign-in at Microsoft in another tab, whose answer the browser sends to `http://localhost`: the
 * person copies the address of that page into a field.
 */
export function SndsSignIn({ access }: Pick<SndsAccess, 'access'>) {
  const { disabledReason } = useAccess()
  const [url, setUrl] = useState<string | null>(null)
  const [problem, setProblem] = useState('')

  async function start(): Promise<void> {
    setProblem('')
    // Opened before the request: a browser blocks windows that open later.
    const page = window.open('', '_blank')
    try {
      const started = await statistics.startSndsSignIn()
      setUrl(started.url)
      if (page !== null) {
        page.opener = null
        page.location.replace(started.url)
      }
    } catch (error) {
      page?.close()
      setProblem((error as Error).message)
    }
  }

  const isSignedIn = access?.kind === 'sign-in'
  return (
    <>
      <div>
        <Button
          size="small"
          disabled={disabledReason !== undefined}
          onClick={() => void start()}
          {...((access === null || access.state === 'ended') && { kind: 'primary' as const })}
        >
          {isSignedIn ? messages.signInAgain : messages.signIn}
        </Button>
      </div>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      {url !== null && (
        <Answer
          key={url}
          url={url}
          onDone={() => setUrl(null)}
          hasLinks={access?.kind === 'links'}
        />
      )}
    </>
  )
}

type AnswerProps = { url: string; onDone: () => void; hasLinks: boolean }

function Answer({ url, onDone, hasLinks }: AnswerProps) {
  const access = useAccess()
  const queries = useQueryClient()

  async function complete(values: Record<string, string>): Promise<void> {
    await statistics.answerSndsSignIn(queryOf(values['address'] ?? ''))
    await queries.invalidateQueries({ queryKey: ['provider-statistics'] })
    onDone()
  }

  return (
    <>
      <ol>
        {messages.steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <p>
        <a href={url} target="_blank" rel="noreferrer">
          {messages.blocked}
        </a>
      </p>
      {hasLinks && <p>{messages.replacesLinks}</p>}
      <Form {...access} submit={messages.complete} check={findMistakes} onSubmit={complete}>
        <TextField
          name="address"
          label={messages.address}
          placeholder={messages.addressExample}
          autoComplete="off"
          inputMode="url"
        />
      </Form>
    </>
  )
}

function findMistakes(values: Record<string, string>): Record<string, string> {
  return values['address']?.trim() ? {} : { address: messages.noAddress }
}

/** Without the host: firewalls reject requests that name localhost (OWASP Core Rule Set, 934190). */
function queryOf(address: string): string {
  return address.trim().slice(address.trim().indexOf('?') + 1)
}
