import { useState } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { CheckField, Form, TextField } from '../../ui/forms/form.tsx'
import { security } from '../api.ts'
import { signIn as messages } from '../messages.ts'

/** The second step of a sign-in: a code of the authenticator app, or a backup code. */
export function CodeForm({
  onDone,
  onStartAgain,
}: {
  onDone: () => Promise<void>
  onStartAgain: () => void
}) {
  const [usesBackupCode, setUsesBackupCode] = useState(false)

  async function verify({ code = '', trust }: Record<string, string>): Promise<void> {
    if (usesBackupCode) await security.verifyBackupCode(code.trim())
    else await security.verifyCode(code.replaceAll(/\s/g, ''), trust === 'on')
    await onDone()
  }

  return (
    <>
      <p>{usesBackupCode ? messages.backupLead : messages.codeLead}</p>
      <Form
        key={String(usesBackupCode)}
        onSubmit={verify}
        check={({ code }): Record<string, string> => (code ? {} : { code: messages.enterCode })}
        submit={messages.verify}
        aside={<Button onClick={onStartAgain}>{messages.startAgain}</Button>}
      >
        <TextField
          name="code"
          label={usesBackupCode ? messages.backupCode : messages.code}
          inputMode={usesBackupCode ? 'text' : 'numeric'}
          autoComplete="one-time-code"
          maxLength={20}
          spellCheck={false}
          autoFocus
        />
        {!usesBackupCode && <CheckField name="trust" label={messages.trust} />}
      </Form>
      <div>
        <Button kind="quiet" size="small" onClick={() => setUsesBackupCode(!usesBackupCode)}>
          {usesBackupCode ? messages.useApp : messages.useBackupCode}
        </Button>
      </div>
    </>
  )
}
