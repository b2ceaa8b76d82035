import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Status, type Tone } from '../../ui/feedback/status.tsx'
import { FieldRow, Form, SelectField, TextField } from '../../ui/forms/form.tsx'
import { Card, Section, Stack } from '../../ui/layout/page.tsx'
import { List, ListItem } from '../../ui/lists/list.tsx'
import { ExactTime } from '../../ui/text/date-text.tsx'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { destinationsOf, replaysQuery, type Destination, type Replay } from '../api.ts'
import { REPLAY_CHOICES, destinationForm, replays as messages } from '../messages.ts'
import { destinationName } from './destination-values.ts'

type ReplayPanelProps = { endpointId: string; destinations: Destination[] }

/** Sends stored requests again, and shows how far that is. */
export function ReplayPanel({ endpointId, destinations }: ReplayPanelProps) {
  const access = useAccess()
  const queries = useQueryClient()
  const { data: replays = [] } = useQuery(replaysQuery(endpointId))

  async function start(values: Record<string, string>): Promise<void> {
    const hours = Number(values['hours'] || '0')
    const since = new Date(Date.now() - hours * 3_600_000).toISOString()
    await destinationsOf(endpointId).replay({
      destination: values['destination'] ?? '',
      filter: {
        ...(hours > 0 && { since }),
        ...(values['choice'] === 'failed' && { states: ['dead', 'dropped', 'cancelled'] }),
      },
      perMinute: Number(values['perMinute'] || '600'),
    })
    await queries.invalidateQueries(replaysQuery(endpointId))
  }

  return (
    <Section title={messages.title}>
      <Card>
        <Form
          {...access}
          onSubmit={start}
          submit={messages.start}
          kind="plain"
          check={({ perMinute = '', hours = '' }) => ({
            ...(!isBetween(perMinute, 1, 60_000) && {
              perMinute: destinationForm.wrongNumber(1, 60_000),
            }),
            ...(hours !== '' &&
              !isBetween(hours, 1, 720) && { hours: destinationForm.wrongNumber(1, 720) }),
          })}
        >
          <FieldRow>
            <SelectField
              name="destination"
              label={messages.destination}
              choices={destinations.map((each) => ({
                value: each.id,
                label: destinationName(each),
              }))}
            />
            <SelectField name="choice" label={messages.choice} choices={REPLAY_CHOICES} />
            <TextField name="hours" label={messages.hours} inputMode="numeric" />
            <TextField
              name="perMinute"
              label={messages.perMinute}
              hint={messages.hint}
              inputMode="numeric"
              defaultValue="600"
            />
          </FieldRow>
        </Form>
      </Card>
      {replays.length > 0 && (
        <List>
          {replays.map((replay) => (
            <ReplayItem key={replay.id} endpointId={endpointId} replay={replay} />
          ))}
        </List>
      )}
    </Section>
  )
}

const isBetween = (text: string, min: number, max: number) =>
  Number.isInteger(Number(text)) && Number(text) >= min && Number(text) <= max

const TONES: Record<Replay['state'], Tone> = { running: 'info', done: 'good', cancelled: 'unknown' }

function ReplayItem({ endpointId, replay }: { endpointId: string; replay: Replay }) {
  const access = useAccess()
  const queries = useQueryClient()
  const [problem, setProblem] = useState('')
  const { id, state, total, compared, queued, createdAt } = replay

  async function cancel(): Promise<void> {
    try {
      await destinationsOf(endpointId).cancelReplay(id)
      await queries.invalidateQueries(replaysQuery(endpointId))
    } catch (error) {
      setProblem((error as Error).message)
    }
  }

  return (
    <ListItem
      title={<ExactTime at={createdAt} />}
      action={
        state === 'running' && (
          <Button {...access} size="small" kind="quiet" onClick={() => void cancel()}>
            {messages.cancel} <VisuallyHidden>{messages.cancelAbout(createdAt)}</VisuallyHidden>
          </Button>
        )
      }
    >
      <Stack>
        <span>
          <Status tone={TONES[state]}>{messages.states[state]}</Status>{' '}
          {messages.progress(queued, compared, total)}
        </span>
        {problem && <Notice tone="bad">{problem}</Notice>}
      </Stack>
    </ListItem>
  )
}
