import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { accountQuery } from '../queries.ts'
import { Button } from '../ui/actions/button.tsx'
import { FieldRow, Form, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Stack } from '../ui/layout/page.tsx'
import { security } from './api.ts'
import { emailChange as messages, fields } from './messages.ts'

type Pending = { email: string; state: string }

/** Changes the address after both addresses confirmed it with a code. */
export function EmailForm() {
  const queries = useQueryClient()
  const [pending, setPending] = useState<Pending | null>(null)
  const [isChanged, setChanged] = useState(false)

  async function start({ email = '' }: Record<string, string>): Promise<void> {
    setChanged(false)
    const { state } = await security.startEmailChange(email.trim())
    setPending({ email: email.trim(), state })
  }

  async function confirm({ oldCode = '', newCode = '' }: Record<string, string>): Promise<void> {
    await security.confirmEmailChange({ state: pending?.state ?? '', oldCode, newCode })
    setPending(null)
    setChanged(true)
    await queries.invalidateQueries(accountQuery)
  }

  if (pending)
    return (
      <Stack>
        <p role="status">{messages.sent(pending.email)}</p>
        <Form
          onSubmit={confirm}
          check={missingCodes}
          submit={messages.confirm}
          aside={<Button onClick={() => setPending(null)}>{messages.cancel}</Button>}
        >
          <FieldRow>
            <CodeField name="oldCode" label={messages.oldCode} />
            <CodeField name="newCode" label={messages.newCode} />
          </FieldRow>
        </Form>
      </Stack>
    )
  return (
    <>
      <Form
        onSubmit={start}
        check={({ email }): Record<string, string> => (email ? {} : { email: fields.enterEmail })}
        submit={messages.start}
      >
        <TextField
          name="email"
          label={messages.newEmail}
          type="email"
          autoComplete="email"
          spellCheck={false}
        />
      </Form>
      <div role="status">{isChanged && <Notice tone="good">{messages.changed}</Notice>}</div>
    </>
  )
}

function CodeField({ name, label }: { name: string; label: string }) {
  return <TextField name={name} label={label} inputMode="numeric" maxLength={20} />
}

function missingCodes({ oldCode, newCode }: Record<string, string>): Record<string, string> {
  return {
    ...(!oldCode && { oldCode: messages.enterCode }),
    ...(!newCode && { newCode: messages.enterCode }),
  }
}
