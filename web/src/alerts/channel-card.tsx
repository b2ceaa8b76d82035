import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Ago } from '../ui/text/ago.tsx'
import { Button } from '../ui/actions/button.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { Form, TextField } from '../ui/forms/form.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Row } from '../ui/layout/page.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Switch } from '../ui/actions/switch.tsx'
import { TitledCard } from '../ui/layout/titled-card.tsx'
import { alerts, channelsQuery, type Channel } from './api.ts'
import { SettingsForm } from './settings-form.tsx'
import { describeKinds, describeQuietHours, channelState, targetOf } from './messages.ts'

/** A mail address or a webhook: how it stands, what it is told and when, and a test. */
export function ChannelCard({ channel }: { channel: Channel }) {
  const [isChanging, setChanging] = useState(false)
  const { type, label, kinds, quietHours, problem, lastSentAt, status } = channel
  const { tone, word } = channelState(channel)
  return (
    <TitledCard title={targetOf(channel)} aside={<Status tone={tone}>{word}</Status>}>
      {problem && <Notice tone="warn">{problem}</Notice>}
      {status === 'unconfirmed' && <Code channel={channel} />}
      <Facts
        facts={[
          ['Kind', type === 'email' ? 'Mail' : 'Webhook'],
          ['Label', label],
          ['Told', describeKinds(kinds)],
          ['Quiet', describeQuietHours(quietHours)],
          ['Last sent', lastSentAt && <Ago key="sent" at={lastSentAt} />],
        ]}
      />
      {isChanging && <SettingsForm channel={channel} onDone={() => setChanging(false)} />}
      <ChannelActions channel={channel} isChanging={isChanging} onChange={() => setChanging(!isChanging)} />
    </TitledCard>
  )
}

type ChannelActionsProps = { channel: Channel; isChanging: boolean; onChange: () => void }

function ChannelActions({ channel, isChanging, onChange }: ChannelActionsProps) {
  const queries = useQueryClient()
  const [{ busy, tone, words }, setState] = useState<{ busy: boolean; tone: 'good' | 'bad'; words: string }>({
    busy: false,
    tone: 'good',
    words: '',
  })
  const { id, enabled, status } = channel
  const target = targetOf(channel)

  async function test(): Promise<void> {
    setState({ busy: true, tone: 'good', words: '' })
    try {
      await alerts.test(id)
      setState({ busy: false, tone: 'good', words: 'The test was taken by the other side.' })
    } catch (error) {
      setState({ busy: false, tone: 'bad', words: (error as Error).message })
    }
  }

  /** Shown at once, and taken back when the service says no. */
  async function turn(isOn: boolean): Promise<void> {
    const { queryKey } = channelsQuery
    const before = queries.getQueryData(queryKey)
    const turned: Channel = { ...channel, enabled: isOn, status: isOn ? 'active' : 'off' }
    queries.setQueryData(queryKey, (all) => all?.map((each) => (each.id === id ? turned : each)))
    try {
      await alerts.change(id, { enabled: isOn })
      await queries.invalidateQueries(channelsQuery)
    } catch (error) {
      queries.setQueryData(queryKey, before)
      setState({ busy: false, tone: 'bad', words: (error as Error).message })
    }
  }
  async function remove(): Promise<void> {
    await alerts.remove(id)
    await queries.invalidateQueries(channelsQuery)
  }

  return (
    <>
      <Row>
        <Button
          size="small"
          icon="send"
          busy={busy}
          disabled={status === 'unconfirmed' || status === 'undeliverable'}
          onClick={() => void test()}
        >
          Send test <VisuallyHidden>to {target}</VisuallyHidden>
        </Button>
        <Button size="small" kind="quiet" onClick={onChange}>
          {isChanging ? 'Leave it as it is' : 'Change'} <VisuallyHidden>{target}</VisuallyHidden>
        </Button>
        <ConfirmButton label="Delete" about={target} title={`Tell ${target} nothing more?`} onConfirm={remove}>
          What was told stays in the list of alerts.
        </ConfirmButton>
        <Switch label="On" about={target} checked={enabled} onChange={(isOn) => void turn(isOn)} />
      </Row>
      <div role={tone === 'bad' ? 'alert' : 'status'}>{words && <Notice tone={tone}>{words}</Notice>}</div>
    </>
  )
}

/** The code that was mailed to an address that is not the account’s own. */
function Code({ channel: { id, address, problem } }: { channel: Channel }) {
  const queries = useQueryClient()
  const [said, setSaid] = useState('')

  async function confirm({ code = '' }: Record<string, string>): Promise<void> {
    await alerts.confirm(id, code.trim())
    await queries.invalidateQueries(channelsQuery)
  }
  async function again(): Promise<void> {
    try {
      await alerts.sendCode(id)
      setSaid(`A new code is on its way to ${address}.`)
    } catch (error) {
      setSaid((error as Error).message)
    }
  }

  return (
    <>
      <Form
        onSubmit={confirm}
        submit="Confirm the address"
        check={wrongCode}
        aside={<Button onClick={() => void again()}>Mail a new code</Button>}
      >
        <TextField
          name="code"
          label="Code"
          hint={problem ? 'The last one could not be mailed.' : `It was mailed to ${address}.`}
          inputMode="numeric"
          autoComplete="one-time-code"
        />
      </Form>
      <div role="status">{said && <Notice tone="info">{said}</Notice>}</div>
    </>
  )
}

function wrongCode({ code = '' }: Record<string, string>): Record<string, string> {
  return code.trim() === '' ? { code: 'Type the code that was mailed there.' } : {}
}
