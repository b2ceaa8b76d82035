import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  mailCredentials,
  mailCredentialsQuery,
  mailProvidersQuery,
  type AdministratorProvider,
} from '../imap/credentials.ts'
import { Form, SelectField } from '../ui/forms/form.tsx'
import { useAccess } from '../workspaces/roles.ts'
import {
  AdministratorSignInFields,
  administratorOf,
  wrongAdministrator,
  type Way,
} from './administrator-fields.tsx'
import { form as messages } from './messages.ts'

/** Adds a sign-in of an administrator for all mailboxes of an organization. */
export function AddSignIn() {
  const access = useAccess()
  const queries = useQueryClient()
  const { data } = useQuery(mailProvidersQuery)
  const [chosen, setChosen] = useState('')
  const [added, setAdded] = useState(0)
  const ways = (data?.forAdministrators ?? []).flatMap(waysOf)
  const way = ways.find((each) => valueOf(each) === chosen) ?? ways[0]
  if (!way) return null

  async function add(values: Record<string, string>): Promise<void> {
    await mailCredentials.save(null, administratorOf(values, way as Way))
    await queries.invalidateQueries(mailCredentialsQuery)
    setAdded(added + 1)
  }

  return (
    <Form
      key={added}
      {...access}
      submit={messages.submit}
      check={wrongAdministrator}
      onSubmit={add}
    >
      <SelectField
        name="way"
        label={messages.provider}
        choices={ways.map((each) => ({
          value: valueOf(each),
          label: messages.providers[each.kind](each.provider.name),
        }))}
        defaultValue={valueOf(way)}
        onChoose={setChosen}
      />
      <AdministratorSignInFields key={valueOf(way)} way={way} />
    </Form>
  )
}

const waysOf = (provider: AdministratorProvider): Way[] =>
  provider.kinds.map((kind) => ({ provider, kind }))

const valueOf = ({ provider, kind }: Way) => `${provider.id} ${kind}`
