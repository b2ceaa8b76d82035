import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ReferencePage } from './reference-page.tsx'

createRoot(document.getElementById('app') as HTMLElement).render(
  <StrictMode>
    <ReferencePage />
  </StrictMode>,
)
