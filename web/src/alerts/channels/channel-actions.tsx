import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { deleteWithUndo } from '../../deletions.ts'
import { updateOptimistically } from '../../optimistic-update.ts'
import { Button } from '../../ui/actions/button.tsx'
import { Switch } from '../../ui/actions/switch.tsx'
import { Row } from '../../ui/layout/page.tsx'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { alerts, channelsQuery, type Channel } from '../api.ts'
import { targetOf } from '../targets.ts'
import { channel as messages, test as testMessages } from './messages.ts'
import type { TestState } from './test-outcome.tsx'

type ChannelActionsProps = {
  channel: Channel
  isChanging: boolean
  onChange: () => void
  onTested: (state: TestState) => void
}

/** Test, edit, delete and pause a channel. A test that arrives turns a disabled one on again. */
export function ChannelActions({ channel, isChanging, onChange, onTested }: ChannelActionsProps) {
  const access = useAccess()
  const queries = useQueryClient()
  const [busy, setBusy] = useState(false)
  const { id, enabled, status } = channel
  const target = targetOf(channel)

  async function test(): Promise<void> {
    setBusy(true)
    onTested(null)
    try {
      const responses = await alerts.test(id)
      if (status === 'disabled') {
        await alerts.change(id, { enabled: true })
        await queries.invalidateQueries(channelsQuery)
      }
      onTested({ responses })
    } catch (error) {
      onTested({ error: error as Error })
    } finally {
      setBusy(false)
    }
  }

  async function toggle(isOn: boolean): Promise<void> {
    const toggled: Channel = { ...channel, enabled: isOn, status: isOn ? 'active' : 'off' }
    const apply = (all: Channel[]) => all.map((each) => (each.id === id ? toggled : each))
    try {
      await updateOptimistically(queries, channelsQuery.queryKey, apply, () =>
        alerts.change(id, { enabled: isOn }),
      )
    } catch (error) {
      onTested({ error: error as Error })
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
    <Row>
      <Button
        {...access}
        size="small"
        icon="send"
        busy={busy}
        disabled={status === 'unconfirmed' || status === 'undeliverable'}
        onClick={() => void test()}
      >
        {status === 'disabled' ? testMessages.retry : testMessages.send}{' '}
        <VisuallyHidden>{testMessages.about(target)}</VisuallyHidden>
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
        checked={enabled && status !== 'disabled'}
        onChange={(isOn) => void toggle(isOn)}
      />
    </Row>
  )
}
