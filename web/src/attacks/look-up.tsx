import { useState, type FormEvent } from 'react'
import { valuesOf } from '../ui/form.tsx'
import { SearchField } from '../ui/search-field.tsx'

type LookUpProps = { ip: string; onAsk: (ip: string) => void; autoFocus?: boolean }

/** Asks for an address; whether it is a good one is for the service to say. */
export function LookUp({ ip, onAsk, autoFocus = false }: LookUpProps) {
  const [problem, setProblem] = useState('')

  function ask(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    const typed = (valuesOf(event.currentTarget).ip ?? '').trim()
    setProblem(typed ? '' : 'Type an address such as 192.0.2.1 or 2001:db8::1.')
    if (typed) onAsk(typed)
  }

  return (
    <form role="search" noValidate onSubmit={ask}>
      <SearchField
        key={ip}
        name="ip"
        label="IPv4 or IPv6 address"
        submit="Look up"
        placeholder="192.0.2.1 or 2001:db8::1"
        defaultValue={ip}
        autoFocus={autoFocus}
        error={problem}
      />
    </form>
  )
}
