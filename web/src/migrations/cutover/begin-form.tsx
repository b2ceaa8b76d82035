import { useQueryClient } from '@tanstack/react-query'
import { AreaField, CheckField, FieldRow, Form, TextField } from '../../ui/forms/form.tsx'
import { Disclosure } from '../../ui/layout/disclosure.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { cutoverQuery, cutovers } from './api.ts'
import { cutover as messages } from './messages.ts'

const NUMBER = /^\d{1,6}$/

/** Asks for the domain and its new MX records. */
export function BeginForm({ batchId, summary }: { batchId: string; summary: string }) {
  const access = useAccess()
  const queries = useQueryClient()

  async function begin(values: Record<string, string>): Promise<void> {
    await cutovers.begin(batchId, {
      domain: values['domain']?.trim() ?? '',
      mx: linesOf(values['mx']),
      ttl: Number(values['ttl']),
      quietHours: Number(values['quietHours']),
      proofLevel: values['full'] === 'on' ? 'full' : 'headers',
    })
    await queries.invalidateQueries({ queryKey: cutoverQuery(batchId).queryKey })
  }

  return (
    <Disclosure summary={summary}>
      <Form {...access} kind="plain" submit={messages.begin} check={problems} onSubmit={begin}>
        <FieldRow>
          <TextField
            name="domain"
            label={messages.domain}
            placeholder="example.com"
            spellCheck={false}
          />
          <TextField name="ttl" label={messages.ttl} inputMode="numeric" defaultValue="300" />
          <TextField
            name="quietHours"
            label={messages.quietHours}
            inputMode="numeric"
            defaultValue="120"
          />
        </FieldRow>
        <AreaField
          name="mx"
          label={messages.mx}
          hint={messages.mxHint}
          rows={2}
          placeholder="mx1.new.example"
        />
        <CheckField name="full" label={messages.fullProof} hint={messages.fullProofHint} />
      </Form>
    </Disclosure>
  )
}

function linesOf(text = ''): string[] {
  return text.split(/[\s,]+/).filter((host) => host !== '')
}

function problems(values: Record<string, string>): Record<string, string> {
  const isNumber = (name: string) => NUMBER.test(values[name]?.trim() ?? '')
  return {
    ...(!values['domain']?.trim() && { domain: messages.needed }),
    ...(linesOf(values['mx']).length === 0 && { mx: messages.needed }),
    ...(!isNumber('ttl') && { ttl: messages.numberNeeded }),
    ...(!isNumber('quietHours') && { quietHours: messages.numberNeeded }),
  }
}
