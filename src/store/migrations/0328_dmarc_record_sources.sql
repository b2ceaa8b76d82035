-- Finds the records of an address without reading all records of a domain. A job fills the columns of
-- earlier rows; until then, their records are searched.
-- The address of each record; null where its From header lies outside the domain.
alter table dmarc_records add column sources inet[];
-- A character per record: 1 if DKIM or SPF passed, else 0.
alter table dmarc_records add column passed text;
