import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Form, TextField } from '../../ui/forms/form.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { alerts, channelsQuery, type Channel } from '../api.ts'
import { confirmation } from './messages.ts'

/** The form for the code that was sent to an address other than the account’s own. */
export function ConfirmationCode({ channel: { id, address, problem } }: { channel: Channel }) {
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
