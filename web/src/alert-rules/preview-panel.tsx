import { useState } from 'react'
import { ALERT_KINDS } from '../alerts/messages.ts'
import { Notice } from '../ui/feedback/notice.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { FieldRow, Form, SelectField, TextField } from '../ui/forms/form.tsx'
import { Stack } from '../ui/layout/page.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { ExactTime } from '../ui/text/date-text.tsx'
import { rules, type Preview, type PreviewBody, type PreviewedChannel } from './api.ts'
import { ALERT_SEVERITIES, preview as messages } from './messages.ts'

/** Shows where an alert would go, without sending one. */
export function PreviewPanel() {
  const [result, setResult] = useState<Preview | null>(null)

  async function show({ topic = '', severity, object = '' }: Record<string, string>) {
    const name = object.trim()
    setResult(
      await rules.preview({
        kind: topic,
        severity: severity as PreviewBody['severity'],
        ...(name !== '' && { object: name }),
      }),
    )
  }

  return (
    <Stack>
      <p>{messages.hint}</p>
      <Form onSubmit={show} submit={messages.submit} kind="plain">
        <FieldRow>
          <SelectField
            name="topic"
            label={messages.topic}
            choices={Object.entries(ALERT_KINDS).map(([value, { name }]) => ({
              value,
              label: name,
            }))}
          />
          <SelectField name="severity" label={messages.severity} choices={[...ALERT_SEVERITIES]} />
          <TextField
            name="object"
            label={messages.object}
            placeholder={messages.objectExample}
            maxLength={260}
            spellCheck={false}
          />
        </FieldRow>
      </Form>
      <div role="status">{result && <Result preview={result} />}</div>
    </Stack>
  )
}

function Result({ preview }: { preview: Preview }) {
  const { sentence, rule, labels, channels, escalation } = preview
  return (
    <Stack>
      <Notice tone="info">{sentence}</Notice>
      <Facts
        facts={[
          [messages.rule, rule?.sentence ?? messages.none],
          [messages.labels, labels.join(', ')],
        ]}
      />
      <Channels channels={channels} />
      {escalation.map((step) => (
        <section key={step.at}>
          <h3>
            {messages.escalation} <ExactTime at={step.at} />
          </h3>
          <Channels channels={step.channels} />
        </section>
      ))}
    </Stack>
  )
}

function Channels({ channels }: { channels: PreviewedChannel[] }) {
  return (
    <List>
      {channels.map((channel) => (
        <ListItem key={channel.id} title={channel.name}>
          <Status {...stateOf(channel)} /> {channel.reason}
          {channel.heldUntil && <ExactTime at={channel.heldUntil} />}
        </ListItem>
      ))}
    </List>
  )
}

function stateOf({ receives, heldUntil }: PreviewedChannel) {
  if (!receives) return { tone: 'unknown' as const, children: messages.not }
  return heldUntil === null
    ? { tone: 'good' as const, children: messages.gets }
    : { tone: 'info' as const, children: messages.held }
}
