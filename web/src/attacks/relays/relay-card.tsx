import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { ConfirmButton } from '../../ui/actions/confirm.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Status, type Tone } from '../../ui/feedback/status.tsx'
import { Disclosure } from '../../ui/layout/disclosure.tsx'
import { Muted, Row } from '../../ui/layout/page.tsx'
import { TitledCard } from '../../ui/layout/titled-card.tsx'
import { Facts } from '../../ui/lists/facts.tsx'
import { Ago, Until } from '../../ui/text/ago.tsx'
import { numberText } from '../../ui/text/format.ts'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { relays, RELAYS_KEY, type Relay } from './api.ts'
import { relays as messages } from './messages.ts'
import { RelayForm } from './relay-form.tsx'

/** A service that reports are passed on to: its state, its settings, a test. */
export function RelayCard({ relay }: { relay: Relay }) {
  const { name, problem, settings, perDay, addressSeconds } = relay
  const { tone, word } = statusOf(relay)
  return (
    <TitledCard title={name} aside={<Status tone={tone}>{word}</Status>}>
      <p>
        <Muted>{messages.limits(perDay, addressSeconds)}</Muted>
      </p>
      {problem && (
        <Notice tone="bad" title={problem}>
          {messages.stopped}
        </Notice>
      )}
      {settings && <RelayFacts relay={relay} />}
      {settings && <RelayActions relay={relay} />}
      <Disclosure summary={settings ? messages.change : messages.start}>
        <RelayForm relay={relay} />
      </Disclosure>
    </TitledCard>
  )
}

function statusOf({ settings, problem, pausedUntil }: Relay): { tone: Tone; word: string } {
  if (!settings) return { tone: 'unknown', word: messages.states.off }
  if (!settings.enabled) return { tone: 'unknown', word: messages.states.disabled }
  if (problem) return { tone: 'bad', word: messages.states.stopped }
  if (isPaused(pausedUntil)) return { tone: 'info', word: messages.states.paused }
  return { tone: 'good', word: messages.states.on }
}

const isPaused = (until: string | null) => until !== null && Date.parse(until) > Date.now()

function RelayFacts({ relay }: { relay: Relay }) {
  const { settings, waiting, sent24h, rejected24h, dropped, lastSentAt, pausedUntil } = relay
  return (
    <Facts
      facts={[
        [messages.facts.account, settings?.account || null],
        [messages.facts.key, settings && messages.key(settings.lastFour)],
        [messages.facts.sent, numberText(sent24h)],
        [messages.facts.waiting, numberText(waiting)],
        [messages.facts.rejected, rejected24h > 0 ? numberText(rejected24h) : null],
        [messages.facts.dropped, dropped > 0 ? messages.droppedText(dropped) : null],
        [messages.facts.lastSent, lastSentAt && <Ago key="sent" at={lastSentAt} />],
        [
          messages.facts.pausedUntil,
          isPaused(pausedUntil) && pausedUntil ? <Until key="until" at={pausedUntil} /> : null,
        ],
      ]}
    />
  )
}

function RelayActions({ relay: { service, name } }: { relay: Relay }) {
  const access = useAccess()
  const queries = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [outcome, setOutcome] = useState<{ tone: Tone; text: string } | null>(null)

  async function test(): Promise<void> {
    setBusy(true)
    setOutcome(null)
    try {
      setOutcome({ tone: 'good', text: await relays.test(service) })
    } catch (error) {
      setOutcome({ tone: 'bad', text: (error as Error).message })
    } finally {
      setBusy(false)
    }
  }

  async function remove(): Promise<void> {
    await relays.remove(service)
    await queries.invalidateQueries({ queryKey: RELAYS_KEY })
  }

  return (
    <>
      <Row>
        <Button {...access} size="small" icon="send" busy={busy} onClick={() => void test()}>
          {messages.test} <VisuallyHidden>{name}</VisuallyHidden>
        </Button>
        <ConfirmButton
          {...access}
          label={messages.remove}
          about={name}
          title={messages.removeTitle(name)}
          onConfirm={remove}
        >
          {messages.removeText}
        </ConfirmButton>
      </Row>
      <div role="status">{outcome && <Notice tone={outcome.tone}>{outcome.text}</Notice>}</div>
    </>
  )
}
