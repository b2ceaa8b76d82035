// Makes the data folder that containers copy at their first start, while their image is built:
// node dist/make-template.js
import { findBinaries } from './binaries.ts'
import { prepareFolder, serverUser } from './folder.ts'
import { TEMPLATE } from './database-template.ts'

await prepareFolder(TEMPLATE, findBinaries(`${TEMPLATE}.lib`), serverUser(TEMPLATE), null)
