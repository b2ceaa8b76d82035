import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { deleteWithUndo } from '../deletions.ts'
import { Ago } from '../ui/text/ago.tsx'
import { Button } from '../ui/actions/button.tsx'
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
import {
  channel as messages,
  channelState,
  confirmation,
  describeKinds,
  describeQuietHours,
} from './messages.ts'
import { targetOf } from './targets.ts'
import { useAccess } from '../workspaces/roles.ts'

/** A channel with its status, settings and actions. */
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
          [messages.facts.type, messages.types[type] ?? type],
          [messages.facts.label, label],
          [messages.facts.events, describeKinds(kinds)],
          [messages.facts.quietHours, describeQuietHours(quietHours)],
          [messages.facts.lastSent, lastSentAt && <Ago key="sent" at={lastSentAt} />],
        ]}
      />
      {isChanging && <SettingsForm channel={channel} onDone={() => setChanging(false)} />}
      <ChannelActions
        channel={channel}
        isChanging={isChanging}
        onChange={() => setChanging(!isChanging)}
      />
    </TitledCard>
  )
}

type ChannelActionsProps = { channel: Channel; isChanging: boolean; onChange: () => void }

function ChannelActions({ channel, isChanging, onChange }: ChannelActionsProps) {
  const access = useAccess()
  const queries = useQueryClient()
  const [{ busy, tone, text }, setState] = useState<{
    busy: boolean
    tone: 'good' | 'bad'
    text: string
  }>({
    busy: false,
    tone: 'good',
    text: '',
  })
  const { id, enabled, status } = channel
  const target = targetOf(channel)

  async function test(): Promise<void> {
    setState({ busy: true, tone: 'good', text: '' })
    try {
      await alerts.test(id)
      setState({ busy: false, tone: 'good', text: messages.testSent })
    } catch (error) {
      setState({ busy: false, tone: 'bad', text: (error as Error).message })
    }
  }

  /** Shows the new state at once, and reverts it if the request fails. */
  async function toggle(isOn: boolean): Promise<void> {
    const { queryKey } = channelsQuery
    const before = queries.getQueryData(queryKey)
    const toggled: Channel = { ...channel, enabled: isOn, status: isOn ? 'active' : 'off' }
    queries.setQueryData(queryKey, (all) => all?.map((each) => (each.id === id ? toggled : each)))
    try {
      await alerts.change(id, { enabled: isOn })
      await queries.invalidateQueries(channelsQuery)
    } catch (error) {
      queries.setQueryData(queryKey, before)
      setState({ busy: false, tone: 'bad', text: (error as Error).message })
    }
  }
  function remove(): void {
    deleteWithUndo(queries, {
      id,
      text: messages.deleting(target),
      list: channelsQuery.queryKey,
      send: () => alerts.remove(id),
    })
  }

  return (
    <>
      <Row>
        <Button
          {...access}
          size="small"
          icon="send"
          busy={busy}
          disabled={status === 'unconfirmed' || status === 'undeliverable'}
          onClick={() => void test()}
        >
          {messages.sendTest} <VisuallyHidden>{messages.testAbout(target)}</VisuallyHidden>
        </Button>
        <Button {...access} size="small" kind="quiet" onClick={onChange}>
          {isChanging ? messages.cancel : messages.edit} <VisuallyHidden>{target}</VisuallyHidden>
        </Button>
        <Button {...access} size="small" kind="quiet" onClick={remove}>
          {messages.delete} <VisuallyHidden>{target}</VisuallyHidden>
        </Button>
        <Switch
          {...access}
          label={messages.on}
          about={target}
          checked={enabled}
          onChange={(isOn) => void toggle(isOn)}
        />
      </Row>
      <div role={tone === 'bad' ? 'alert' : 'status'}>
        {text && <Notice tone={tone}>{text}</Notice>}
      </div>
    </>
  )
}

/** The form for the code that was sent to an address other than the account’s own. */
function Code({ channel: { id, address, problem } }: { channel: Channel }) {
  const access = useAccess()
  const queries = useQueryClient()
  const [notice, setNotice] = useState('')

  async function confirm({ code = '' }: Record<string, string>): Promise<void> {
    await alerts.confirm(id, code.trim())
    await queries.invalidateQueries(channelsQuery)
  }
  async function sendNewCode(): Promise<void> {
    try {
      await alerts.sendCode(id)
      setNotice(confirmation.sent(address))
    } catch (error) {
      setNotice((error as Error).message)
    }
  }

  return (
    <>
      <Form
        {...access}
        onSubmit={confirm}
        submit={confirmation.submit}
        check={wrongCode}
        aside={
          <Button {...access} onClick={() => void sendNewCode()}>
            {confirmation.sendNew}
          </Button>
        }
      >
        <TextField
          name="code"
          label={confirmation.code}
          hint={problem ? confirmation.failedHint : confirmation.hint(address)}
          inputMode="numeric"
          autoComplete="one-time-code"
        />
      </Form>
      <div role="status">{notice && <Notice tone="info">{notice}</Notice>}</div>
    </>
  )
}

function wrongCode({ code = '' }: Record<string, string>): Record<string, string> {
  return code.trim() === '' ? { code: confirmation.enterCode } : {}
}
