create database shop character set utf8mb4 collate utf8mb4_german2_ci;
use shop;
create table orders (n int primary key auto_increment, t varchar(100), d datetime, x decimal(10,3), f double, b blob, j json, key (t)) engine=innodb;
insert into orders (t,d,x,f,b,j) select concat('Größe ', seq), '2021-01-01' + interval seq hour, seq/7, seq/3, repeat(char(seq%256), 30), json_object('a', seq) from seq_1_to_5000;
create table words (n int, t text, fulltext(t)) engine=myisam;
insert into words select seq, concat('word', seq, ' and') from seq_1_to_3000;
create table places (n int, g geometry) engine=aria;
insert into places select seq, point(seq, seq) from seq_1_to_100;
create table parts (n int, y int) engine=innodb partition by range(y) (partition p0 values less than (10), partition p1 values less than maxvalue);
insert into parts select seq, seq%20 from seq_1_to_200;
create table `we"ird ``nämé	tab` (n int) engine=innodb;
insert into `we"ird ``nämé	tab` values (1);
create view totals as select count(*) c from orders;
create sequence numbers;
select nextval(numbers);
delimiter //
create procedure pr(in n int) begin select n+1; end//
create function twice(n int) returns int deterministic return n*2//
create trigger bang before insert on orders for each row set new.t=concat(new.t,'!')//
create event tidy on schedule every 1 day do delete from places where n<0//
delimiter ;
create user u@localhost identified by 'secret';
grant select, execute on shop.* to u@localhost;
create role r; grant r to u@localhost;
grant insert (n) on shop.words to u@localhost;
